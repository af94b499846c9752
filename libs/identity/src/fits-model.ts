/** Whether a pattern, in which `*` stands for whatever is there, names a model. In time that grows with the lengths alone. */
export function fitsModel(model: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return model === pattern;
  if (!model.startsWith(first)) return false;
  const last = rest.pop()!;
  let from = first.length;
  for (const part of rest) {
    const found = model.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return model.length - last.length >= from && model.endsWith(last);
}
