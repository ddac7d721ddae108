// Live figures in this page: a frame gets the height that its figure reports, and a figure this page's theme.
'use strict';
(() => {
  const frames = [...document.querySelectorAll('iframe.live')];
  const tell = (frame) => frame.contentWindow.postMessage({theme: document.body.dataset.theme ?? 'auto'}, '*');
  addEventListener('message', ({data, source}) => {
    const frame = frames.find((one) => one.contentWindow === source);
    if (!frame || !(data?.figureHeight > 0)) return;
    frame.style.height = `${data.figureHeight + frame.offsetHeight - frame.clientHeight}px`;
    tell(frame);
  });
  new MutationObserver(() => frames.forEach(tell)).observe(document.body, {attributes: true, attributeFilter: ['data-theme']});
})();
