/** An image's or a document's bytes as every provider takes them. */
export function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

/** The same as a URL that carries them. */
export function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: Uint8Array }): string {
  return `data:${mediaType};base64,${base64(data)}`;
}
