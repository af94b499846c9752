import type { ReceivedSpan } from "@hlvm/testing/otlp-messages";

const NAME_WIDTH = 100;

/** The spans of one trace as a tree for a person: when each began, how long it took, in milliseconds since the first. */
export function spanTree(spans: readonly ReceivedSpan[]): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const inOrder = spans.toSorted((one, other) => one.startMilliseconds - other.startMilliseconds);
  const begin = inOrder[0]?.startMilliseconds ?? 0;
  const lines = (parents: readonly ReceivedSpan[], indent: string): string[] =>
    parents.flatMap((span, index) => {
      const isLast = index === parents.length - 1;
      const children = inOrder.filter(({ parentId }) => parentId === span.spanId);
      const name = `${indent}${isLast ? "└─" : "├─"} ${span.name}  [${side(span)}]${span.isError ? "  failed" : ""}`;
      const times = [span.startMilliseconds - begin, span.durationMilliseconds].map((time) => time.toFixed(1).padStart(9));
      return [`${name.padEnd(NAME_WIDTH)}${times.join("")}`, ...lines(children, `${indent}${isLast ? "   " : "│  "}`)];
    });
  const roots = inOrder.filter(({ parentId }) => !known.has(parentId));
  return [`${"span  [service]".padEnd(NAME_WIDTH)}${"began".padStart(9)}${"took".padStart(9)}`, ...lines(roots, "")].join("\n");
}

/** Every call is a span of both its sides. */
function side({ service, kind }: ReceivedSpan): string {
  const name = service.replace(/^hlvm-/, "");
  if (kind === 3) return `${name} calls`;
  return kind === 2 ? `${name} answers` : name;
}
