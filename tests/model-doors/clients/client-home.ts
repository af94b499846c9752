import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram, type Ended } from "../../e2e/run-program.ts";
import { repositoryRoot } from "../../e2e/test-mesh.ts";
import { CLIENTS, type Access } from "./clients.ts";

/** What the client finds when it does as its model says. */
export const NOTE = "The violets are out.";

/** A client, installed beside the project on first use, with a home of its own. */
export interface ClientHome extends Disposable {
  readonly home: string;
  readonly ask: (question: string) => Promise<Ended>;
  /** Asks in the conversation that it had last. */
  readonly goOn: (question: string) => Promise<Ended>;
  /** From now on with another model. */
  readonly useModel: (model: string) => void;
}

export function openClientHome(name: string, access: Pick<Access, "url" | "token" | "model">): ClientHome {
  const program = install(name);
  const folder = mkdtempSync(join(tmpdir(), `hlvm-${name}-`));
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  for (const each of [home, work]) mkdirSync(each);
  writeFileSync(join(work, "note.txt"), NOTE);
  const { setUp } = CLIENTS[name]!;
  let settings = setUp({ ...access, home, work });
  const run = (words: readonly string[]) =>
    runProgram(program, words, { cwd: work, environment: { PATH: process.env.PATH!, HOME: home, ...settings.environment } });
  return {
    home,
    ask: (question) => run(settings.ask(question)),
    goOn: (question) => run(settings.goOn(question)),
    useModel: (model) => (settings = setUp({ ...access, model, home, work })),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
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
