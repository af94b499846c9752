import type { TrustedFile, Truster, TrustStore } from "./trust-store.ts";

export type TrustState = "trusted" | "untrusted" | "changed";

/**
 * Whether these files of a workspace are what the person trusted, to the byte. A file that came along later is no part of it,
 * wherever in the workspace it lies.
 */
export async function checkTrust(
  store: TrustStore,
  truster: Truster,
  workspace: string,
  files: readonly Pick<TrustedFile, "path" | "sha256">[],
): Promise<TrustState[]> {
  const trusted = await store.find(truster, workspace);
  return files.map(({ path, sha256 }) => {
    const known = trusted?.files.find((file) => file.path === path);
    if (known === undefined) return "untrusted";
    return known.sha256 === sha256 ? "trusted" : "changed";
  });
}
