import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, type Ended } from "../../e2e/run-program.ts";
import { repositoryRoot } from "../../e2e/test-mesh.ts";
import { CLIENTS, type Access } from "./clients.ts";

/** What the client finds when it does as its model says. */
export const NOTE = "The violets are out.";

/** Asks one question through a client, installed beside the project on first use, in a home of its own. */
export async function runClient(name: string, access: Pick<Access, "url" | "token" | "model">, question: string): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), `hlvm-${name}-`));
  try {
    const [home, work] = [join(folder, "home"), join(folder, "work")];
    for (const each of [home, work]) mkdirSync(each);
    writeFileSync(join(work, "note.txt"), NOTE);
    const { words, environment } = CLIENTS[name]!.setUp({ ...access, home, work }, question);
    return await runProgram(install(name), words, { cwd: work, environment: { PATH: process.env.PATH!, HOME: home, ...environment } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the program */
function install(name: string): string {
  const { npmPackage, program } = CLIENTS[name]!;
  const folder = join(repositoryRoot, ".cache", "clients", npmPackage.replaceAll("/", "+"));
  if (!existsSync(join(folder, program))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    const words = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts=false", "--prefix", folder, npmPackage];
    execFileSync("npm", words, { stdio: ["ignore", "ignore", "inherit"] });
  }
  return join(folder, program);
}
