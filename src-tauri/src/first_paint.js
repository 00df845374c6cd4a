// Tells when something with content was painted, as the page itself measures it.
(() => {
  if (window !== window.top) return;
  const tell = () => void window.__TAURI_INTERNALS__.invoke("painted");
  const name = "first-contentful-paint";
  new PerformanceObserver((list, observer) => {
    if (list.getEntriesByName(name).length === 0) return;
    observer.disconnect();
    tell();
  }).observe({ type: "paint", buffered: true });
})();
