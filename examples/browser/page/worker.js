// Trains outside the page's thread, so that the page stays responsive: each message is a request to the
// module, answered in order.
'use strict';

let ready = null;

function unpack(packed) {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

self.onmessage = async ({data}) => {
  try {
    if (data.packed) {
      ready = unpack(data.packed).then((wasmBinary) => gradusModule({wasmBinary, print: () => {}, printErr: () => {}}));
      return;
    }
    const module = await ready;
    self.postMessage({id: data.id, answer: module.ccall('gradus_answer', 'string', ['string'], [data.request])});
  } catch (error) {
    self.postMessage({id: data.id, answer: JSON.stringify({error: 'the module stopped: ' + (error?.message ?? error)})});
  }
};
