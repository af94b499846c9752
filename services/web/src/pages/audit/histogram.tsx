import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { AggregateResponse } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useRef, useState, type PointerEvent } from "react";
import parts from "../../parts/parts.module.css";
import { countWord } from "../../parts/words.ts";
import styles from "./audit.module.css";

const HEIGHT = 72;
const BAR_WIDTH = 0.84;
const DATES = 5;

interface HistogramProps {
  readonly counts: AggregateResponse;
  readonly onZoom: (since: Date, until: Date) => void;
}

/** How many events there were over time, by decision. Dragging over it asks for that time alone. */
export function Histogram({ counts: { buckets, bucketSeconds }, onZoom }: HistogramProps) {
  const [dragged, setDragged] = useState<readonly [number, number] | undefined>(undefined);
  const chart = useRef<SVGSVGElement>(null);
  const most = buckets.reduce((greatest, { events }) => Math.max(greatest, Number(events)), 1);
  const startOf = (at: number): Date => {
    const first = buckets[0]?.start;
    return new Date((first === undefined ? 0 : timestampDate(first).getTime()) + at * bucketSeconds * 1_000);
  };
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = chart.current!.getBoundingClientRect();
    return Math.min(buckets.length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * buckets.length)));
  };
  const begin = (event: PointerEvent<SVGSVGElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDragged([bucketAt(event), bucketAt(event)]);
  };
  const end = (): void => {
    if (dragged === undefined) return;
    const [from, to] = [Math.min(...dragged), Math.max(...dragged)];
    setDragged(undefined);
    onZoom(startOf(from), startOf(to + 1));
  };
  const sum = (field: "allowed" | "asked" | "denied"): number => buckets.reduce((total, bucket) => total + Number(bucket[field]), 0);
  if (buckets.length === 0) return null;
  const marked = dragged === undefined ? undefined : ([Math.min(...dragged), Math.max(...dragged) + 1] as const);
  return (
    <figure className={styles.histogram}>
      <figcaption className={styles.legend}>
        <span>
          {spanWord(bucketSeconds)} a bar, at most {countWord(most, "event")}; drag to zoom
        </span>
        {(["allowed", "asked", "denied"] as const).map((field) => (
          <span key={field} className={styles[field]}>
            {field} {sum(field).toLocaleString()}
          </span>
        ))}
      </figcaption>
      <svg
        ref={chart}
        viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Events over time, by decision; the view Counts has them as a table"
        onPointerDown={begin}
        onPointerMove={(event) => dragged !== undefined && setDragged([dragged[0], bucketAt(event)])}
        onPointerUp={end}
        onPointerCancel={() => setDragged(undefined)}
      >
        {buckets.map(({ allowed, asked, denied, events }, at) => {
          let top = HEIGHT;
          const other = Number(events) - Number(allowed) - Number(asked) - Number(denied);
          const shares = [
            ["allowed", Number(allowed) + Math.max(0, other)],
            ["asked", Number(asked)],
            ["denied", Number(denied)],
          ] as const;
          return shares.map(([field, count]) => {
            if (count === 0) return null;
            const height = Math.max(1.5, (count / most) * HEIGHT);
            top = Math.max(0, top - height);
            return <rect key={`${at} ${field}`} className={styles[field]} x={at} y={top} width={BAR_WIDTH} height={height} />;
          });
        })}
        {marked === undefined ? null : <rect className={styles.range} x={marked[0]} y={0} width={marked[1] - marked[0]} height={HEIGHT} />}
      </svg>
      <p className={styles.dates} aria-hidden="true">
        {Array.from({ length: DATES }, (_, at) => (
          <span key={at}>{dateWord(startOf(Math.round((buckets.length * at) / (DATES - 1))), bucketSeconds * buckets.length)}</span>
        ))}
      </p>
      {marked === undefined ? null : (
        <p className={parts.advice} role="status">
          {startOf(marked[0]).toLocaleString()} to {startOf(marked[1]).toLocaleString()}
        </p>
      )}
    </figure>
  );
}

export function spanWord(seconds: number): string {
  if (seconds >= 86_400) return `${+(seconds / 86_400).toFixed(1)} d`;
  if (seconds >= 3_600) return `${+(seconds / 3_600).toFixed(1)} h`;
  return seconds >= 60 ? `${+(seconds / 60).toFixed(1)} min` : `${seconds} s`;
}

const DAY = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric" });
const MONTH = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const MINUTE = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

function dateWord(date: Date, spanSeconds: number): string {
  if (spanSeconds > 10 * 86_400) return MONTH.format(date);
  return spanSeconds > 2 * 86_400 ? DAY.format(date) : MINUTE.format(date);
}
