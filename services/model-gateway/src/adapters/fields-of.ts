export type Fields = { readonly [name: string]: unknown };

/** The fields of something that somebody else made, to be looked at one by one; of what is no object there are none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
