import { protectedPart } from "@hlvm/protected-paths/protected-paths";

/** A relative path that stays below the folder it starts in and leads to nothing that other programs obey. */
export function isWorkspacePath(path: string): boolean {
  return (
    path !== "" && !path.startsWith("/") && !path.startsWith("~") && !path.split("/").includes("..") && protectedPart(path) === undefined
  );
}
