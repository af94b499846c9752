import type { PoolInstance } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import styles from "./models.module.css";

const MOST_DRAWN = 64;

/** A mark for each slot of a server: at work for this gateway, for others, free, and those that belong to other gateways. */
export function SlotStrip({ instance: { slots, ownSlots, inFlight, inFlightElsewhere } }: { readonly instance: PoolInstance }) {
  const free = Math.max(0, ownSlots - inFlight);
  const busyElsewhere = Math.min(inFlightElsewhere, Math.max(0, slots - inFlight));
  const kinds = [
    ...Array<string>(inFlight).fill(styles.busy!),
    ...Array<string>(busyElsewhere).fill(styles.elsewhere!),
    ...Array<string>(free).fill(styles.free!),
  ].slice(0, slots);
  const drawn = [...kinds, ...Array<string>(slots - kinds.length).fill(styles.others!)].slice(0, MOST_DRAWN);
  const words = [
    `${inFlight} of ${ownSlots} busy`,
    ...(inFlightElsewhere > 0 ? [`${inFlightElsewhere} for others`] : []),
    ...(slots > ownSlots ? [`${slots - ownSlots} of other gateways`] : []),
  ];
  return (
    <div className={styles.slots}>
      <div className={styles.strip} aria-hidden="true">
        {drawn.map((kind, index) => (
          <span key={index} className={kind} />
        ))}
        {slots > MOST_DRAWN ? `+${slots - MOST_DRAWN}` : ""}
      </div>
      <p className={styles.quiet}>{slots === 0 ? "no slots known" : words.join(", ")}</p>
    </div>
  );
}
