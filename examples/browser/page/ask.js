// Sends JSON requests to the module in a worker: `const {csv} = await ask({do: 'csv'})`. Throws if the answer
// is an error.
'use strict';

const $ = (id) => document.getElementById(id);
const asked = new Map();
let worker = null, questions = 0;

function ask(request) {
  return new Promise((resolve, reject) => {
    const id = ++questions;
    asked.set(id, {resolve, reject});
    worker.postMessage({id, request: JSON.stringify(request)});
  }).then((answer) => {
    if (answer.error) throw new Error(answer.error);
    return answer;
  });
}

function startWorker() {
  worker = new Worker(URL.createObjectURL(new Blob([$('worker').textContent], {type: 'text/javascript'})));
  worker.onmessage = ({data}) => {
    asked.get(data.id).resolve(JSON.parse(data.answer));
    asked.delete(data.id);
  };
  worker.onerror = (event) => {
    for (const {reject} of asked.values()) reject(new Error(event.message ?? 'the worker did not start'));
    asked.clear();
  };
  const packed = Uint8Array.from(atob($('module').textContent.trim()), (c) => c.charCodeAt(0)).buffer;
  worker.postMessage({packed}, [packed]);
}
