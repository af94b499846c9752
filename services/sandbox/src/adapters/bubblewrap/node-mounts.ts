import { realpathSync } from "node:fs";
import { basename } from "node:path";

/** @types/node 26 does not have its newest property yet. */
type Report = NodeJS.ProcessReport & { excludeNetwork: boolean };

const LIBRARIES = "/opt/hlvm/lib";
const SYSTEM = /^\/(usr|lib|lib32|lib64|libx32)\//;
const node = realpathSync("/proc/self/exe");
const librariesOutsideTheSystem = sharedObjects().filter((path) => path.startsWith("/") && !SYSTEM.test(path) && !path.endsWith(".node"));

/**
 * bwrap arguments that show the Node that this process runs under, and those of its libraries that lie outside the
 * system's folders: with a Node that was unpacked somewhere by a person, or that got a library beside it, some do.
 */
export function nodeMounts(): string[] {
  return [
    "--ro-bind",
    node,
    "/opt/hlvm/bin/node",
    ...librariesOutsideTheSystem.flatMap((path) => ["--ro-bind", path, `${LIBRARIES}/${basename(path)}`]),
    ...(librariesOutsideTheSystem.length === 0 ? [] : ["--setenv", "LD_LIBRARY_PATH", LIBRARIES]),
  ];
}

/** Without the network's part of the report, which asks for the names of addresses. */
function sharedObjects(): readonly string[] {
  const report = process.report as Report;
  report.excludeNetwork = true;
  return (report.getReport() as { readonly sharedObjects: readonly string[] }).sharedObjects;
}
