/** What the page measures of itself; times are milliseconds. */
export interface Probe {
  /** Since the navigation began. */
  readonly firstPaint: number;
  readonly usable: number;
  readonly lastRow: number;
  /** As they came over the wire. */
  readonly scriptBytes: number;
  readonly longTasks: readonly number[];
  /** From a key to the next paint, as the browser has it. */
  readonly keys: readonly number[];
  /** When a word of the answer was painted first, by its number: milliseconds since 1970. */
  readonly paintedAt: Readonly<Record<string, number>>;
}

/** Runs in the page before anything else of it. */
export const PAGE_PROBE = `
  const probe = (window.probe = { firstPaint: 0, usable: 0, lastRow: 0, scriptBytes: 0, longTasks: [], keys: [], paintedAt: {} });
  const observe = (type, options, each) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...options });
  observe("paint", {}, ({ name, startTime }) => name === "first-contentful-paint" && (probe.firstPaint = startTime));
  observe("longtask", {}, ({ duration }) => probe.longTasks.push(duration));
  observe("event", { durationThreshold: 16 }, ({ name, duration }) => name === "keydown" && probe.keys.push(duration));
  observe("resource", {}, ({ name, encodedBodySize }) => {
    if (name.endsWith(".js") && probe.usable === 0) probe.scriptBytes += encodedBodySize;
  });
  let last = -1;
  const look = () => {
    const isListed = document.querySelector("[data-row]") !== null || document.querySelector("h2") !== null;
    if (probe.usable === 0 && document.querySelector("#ask") !== null && isListed) probe.usable = performance.now();
    if (probe.lastRow === 0 && document.querySelector("[role=log] [data-index] *") !== null) probe.lastRow = performance.now();
    const texts = document.querySelectorAll('[aria-label="Answer"]');
    const words = texts[texts.length - 1]?.textContent.slice(-400).match(/w\\d+ x/g);
    const newest = words === null || words === undefined ? -1 : Number(words[words.length - 1].slice(1, -2));
    if (newest <= last) return;
    const from = last + 1;
    last = newest;
    // Painted behind the next frame's callbacks.
    requestAnimationFrame(() => setTimeout(() => {
      for (let word = from; word <= newest; word++) probe.paintedAt[word] = Date.now();
    }));
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
`;
