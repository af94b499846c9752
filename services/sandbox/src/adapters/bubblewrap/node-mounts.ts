import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** @types/node 26 does not have its newest property yet. */
type Report = NodeJS.ProcessReport & { excludeNetwork: boolean };

const NODE = "/opt/hlvm/bin/node";
/** Known to the launcher. */
const LIBRARIES = "/opt/hlvm/lib";
const LAUNCHER = fileURLToPath(new URL("node-with-libraries.sh", import.meta.url));
const SYSTEM = /^\/(usr|lib|lib32|lib64|libx32)\//;

/**
 * bwrap arguments that show the Node that this process runs under, and those of its libraries that lie outside the
 * system's folders: with a Node that was unpacked somewhere by a person, or that got a library beside it, some do.
 */
export function nodeMounts(sharedObjects = ownSharedObjects): string[] {
  const node = realpathSync("/proc/self/exe");
  const libraries = sharedObjects.filter((path) => path.startsWith("/") && !SYSTEM.test(path) && !path.endsWith(".node"));
  if (libraries.length === 0) return ["--ro-bind", node, NODE];
  const files = libraries.flatMap((path) => ["--ro-bind", path, `${LIBRARIES}/${basename(path)}`]);
  return [...files, "--ro-bind", node, `${LIBRARIES}/node`, "--ro-bind", LAUNCHER, NODE];
}

const ownSharedObjects = readSharedObjects();

/** Without the network's part of the report, which asks for the names of addresses. */
function readSharedObjects(): readonly string[] {
  const report = process.report as Report;
  report.excludeNetwork = true;
  return (report.getReport() as { readonly sharedObjects: readonly string[] }).sharedObjects;
}
