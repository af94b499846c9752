/** Of an answer's end. */
const LOOKED_AT = 600;
const OPENING = String.raw`(?:(?:ok(?:ay)?|alright|now|next|first|then|so|great|good)[,:.!]?\s+)*`;
const ANNOUNCEMENT = new RegExp(
  `^${OPENING}(?:I(?:['’]ll| will| am going to|['’]m going to)|let me|let['’]s|ich werde|lass mich|als Nächstes werde ich)\\b`,
  "i",
);
/** What is said to the user, and not announced. */
const OFFER = /\b(let me know|if you|whenever you|once you|when you|wenn du|wenn Sie|falls)\b|\?\s*$/i;

/** Whether an answer without any call ends in saying what the model will do next, as small models do instead of doing it. */
export function announcesWork(text: string): boolean {
  const last = text
    .slice(-LOOKED_AT)
    .trim()
    .split(/(?<=[.!?:])\s+|\n+/)
    .at(-1);
  return last !== undefined && ANNOUNCEMENT.test(last.replace(/^[-*>#\s]+/, "")) && !OFFER.test(last);
}
