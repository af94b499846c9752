export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A field that is undefined is left out of the JSON. */
export interface JsonObject {
  readonly [field: string]: JsonValue | undefined;
}
