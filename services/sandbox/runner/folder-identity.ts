/** Tells a folder from any other that its path may lead to later, inside and outside of a sandbox alike. */
export function folderIdentity({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
