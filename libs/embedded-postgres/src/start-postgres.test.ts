import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startPostgres, type PostgresOptions } from "./start-postgres.ts";

let folder: string;
let options: PostgresOptions;
let data: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-postgres-"));
  options = { directory: join(folder, "postgres"), socketDirectory: join(folder, "socket"), logFile: join(folder, "log"), durable: false };
  data = join(options.directory, "data");
});

afterEach(() => rmSync(folder, { recursive: true }));

it("starts on what it made before, and never makes data anew where there was some", async () => {
  const first = await startPostgres(options);
  await first.stop();
  renameSync(data, `${data}-away`);
  await expect(startPostgres(options)).rejects.toMatchObject({ reason: "postgres_data_missing", message: expect.stringContaining(data) });
  renameSync(`${data}-away`, data);
  const again = await startPostgres(options);
  expect(again.url("postgres")).toBe(first.url("postgres"));
  await again.stop();
});

it("begins again in the folder that was left, so that a start that is cut off just there can be tried again too", async () => {
  mkdirSync(join(`${data}.unfinished`, "base"), { recursive: true });
  writeFileSync(join(options.directory, "superuser-password"), "of the start that was cut off");
  // While it is open no other folder gets its number.
  const left = openSync(`${data}.unfinished`, "r");
  const postgres = await startPostgres(options);
  await postgres.stop();
  expect(statSync(data).ino).toBe(fstatSync(left).ino);
  closeSync(left);
});

it("has its new data on the disk before it is used, where it is to be durable", async () => {
  const postgres = await startPostgres({ ...options, durable: true });
  await postgres.stop();
  expect(readFileSync(options.logFile, "utf8")).toContain("syncing data to disk ... ok");
});

it.each([
  ["while its data is made", "data.unfinished/base", "Sync to disk"],
  ["while it starts", "data/postmaster.pid", "ready to accept connections"],
])("ends with all of its processes when its start is given up %s, and can be started again", async (_, file, later) => {
  const giveUp = new AbortController();
  const start = startPostgres({ ...options, signal: giveUp.signal });
  await expect.poll(() => existsSync(join(options.directory, file)), { interval: 1, timeout: 10_000 }).toBe(true);
  giveUp.abort(new Error("given up"));
  await expect(start).rejects.toThrow("given up");
  expect(isNamedByAProcess(folder)).toBe(false);
  expect(readFileSync(options.logFile, "utf8")).not.toContain(later);
  const again = await startPostgres(options);
  await again.stop();
});

it("begins again after a start that was cut off while the data was being made", async () => {
  mkdirSync(join(`${data}.unfinished`, "base"), { recursive: true });
  const postgres = await startPostgres(options);
  await postgres.stop();
  expect(postgres.pid).toBeGreaterThan(0);
});

/** Whether a process was started with this in its arguments; pgrep is not on every machine. */
function isNamedByAProcess(text: string): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}
