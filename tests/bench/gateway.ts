import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Way } from "./gateway/http-way.ts";
import { startOwnDoor } from "./gateway/own-door.ts";
import { startOwnGateway, startPlainStream } from "./gateway/own-gateway.ts";
import { startHaproxy, startPlainProxy, startPortkey, startUpstream, type Started } from "./gateway/peers.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const ROUNDS = 5;
/** Of fewer, the p99 is a pause or two for garbage of whoever asks. */
const CALLS_A_ROUND = 300;
/** One client asks, and thinks for a moment. */
const PAUSE_MILLISECONDS = 3;
const CLIENTS = 64;
/** A gateway serves for days, and its code is compiled in its first minutes. */
const WARM_UP_MILLISECONDS = 10_000;
const LOAD_MILLISECONDS = 2_000;
const STREAMS = 200;
const DELTAS = 100;
/** The load is of many calls at once, with few deltas an answer: what one client and streams take besides is compiled in these. */
const WARM_UP_ROUNDS = 2;
/** The p99 of 200 is the third worst of them: of one round it may be a pause for garbage. */
const STREAM_ROUNDS = 5;
/** Streams that all begin at once, faster than a model writes; and at a model's pace, begun one after the other. */
const STREAMS_KINDS = [
  { name: "at once, a delta every 10 ms", pauseMilliseconds: 10, spreadMilliseconds: 0 },
  { name: "begun within 4 s, a delta every 40 ms", pauseMilliseconds: 40, spreadMilliseconds: 4_000 },
];
const LARGE_CALLS = 1_500;
const LARGE_BYTES = 150 * 1024;

/**
 * Gateways between a program and a provider, each in a process of its own, against what the provider takes by itself; and then the
 * mesh's door for programs, since what a whole mesh does besides would count for all of them.
 */
export async function benchGateway(): Promise<void> {
  const upstream = await startUpstream();
  const started: Started[] = [upstream];
  const stopOthers = async (): Promise<void> => {
    for (const { stop } of started.splice(1).toReversed()) await stop();
  };
  try {
    const portkey = await startPortkey(upstream.url);
    started.push(portkey, await startOwnGateway(upstream.url), await startPlainStream(upstream.url), await startPlainProxy(upstream.url));
    const haproxy = await startHaproxy(upstream.url);
    if (haproxy === undefined) console.log("haproxy is not installed here.");
    else started.push(haproxy);
    await measure(started, portkey);
    await memory(started.map(({ way }) => way));
    await stopOthers();
    started.push(await startOwnDoor(upstream.url));
    await measure(started);
  } finally {
    await stopOthers();
    await upstream.stop();
  }
}

async function measure(started: readonly Started[], portkey?: Started & { readonly whole: Way }): Promise<void> {
  const ways = started.map(({ way }) => way);
  for (const way of ways) await load(way, WARM_UP_MILLISECONDS);
  await oneClient(portkey === undefined ? ways : [...ways, portkey.whole]);
  await manyClients(ways, portkey?.way);
  for (const kind of STREAMS_KINDS) await streams(ways, kind);
}

/** All ways, each round beginning with the next one: what else the machine does counts for all, and none always follows the same one. */
function inTurn(ways: readonly Way[], round: number): readonly Way[] {
  const first = round % ways.length;
  return [...ways.slice(first), ...ways.slice(0, first)];
}

async function oneClient(ways: readonly Way[]): Promise<void> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const way of ways) await callsOf(way);
  const taken = new Map(ways.map((way) => [way, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) for (const way of inTurn(ways, round)) taken.get(way)!.push(...(await callsOf(way)));
  const [direct] = [...taken.values()];
  const added = (numbers: readonly number[], share: number): string => round2(quantile(numbers, share) - quantile(direct!, share));
  printTable(
    "One client, milliseconds that a gateway adds",
    [...taken].map(([{ name }, numbers], index) => ({
      way: name,
      "p50 whole": round2(quantile(numbers, 0.5)),
      "added p50": index === 0 ? "" : added(numbers, 0.5),
      "added p99": index === 0 ? "" : added(numbers, 0.99),
    })),
  );
}

/** @returns how long the answers took */
async function callsOf(way: Way): Promise<number[]> {
  const taken: number[] = [];
  for (let call = 0; call < CALLS_A_ROUND; call++) {
    const began = performance.now();
    await way.ask({ model: "one" });
    taken.push(performance.now() - began);
    await sleep(PAUSE_MILLISECONDS);
  }
  return taken;
}

/** Requests a second, and how many times another way's they are, are medians of the rounds. */
async function manyClients(ways: readonly Way[], besides?: Way): Promise<void> {
  const loads = new Map<Way, Load[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round++) for (const way of inTurn(ways, round)) loads.get(way)!.push(await measuredLoad(way));
  const rows = [...loads].map(([way, rounds]) => {
    const others = besides && loads.get(besides);
    const ratios = others?.map(({ taken }, round) => rounds[round]!.taken.length / taken.length);
    return {
      way: way.name,
      "requests/s": Math.round(
        quantile(
          rounds.map(({ taken }) => taken.length),
          0.5,
        ) /
          (LOAD_MILLISECONDS / 1_000),
      ),
      ...(ratios && { [`times those of ${besides!.name}`]: round2(quantile(ratios, 0.5)) }),
      "p99 ms": quantile(
        rounds.flatMap(({ taken }) => taken),
        0.99,
      ),
      "its processor ms a request":
        way.pid === undefined
          ? ""
          : round2(
              quantile(
                rounds.map(({ used }) => used),
                0.5,
              ),
            ),
    };
  });
  printTable(`${CLIENTS} clients at once`, rows);
}

interface Load {
  /** How long the answers took. */
  readonly taken: readonly number[];
  /** Of its processor a request. */
  readonly used: number;
}

async function measuredLoad(way: Way): Promise<Load> {
  const spent = (): number => (way.pid === undefined ? 0 : processorMilliseconds(way.pid));
  const before = spent();
  const taken = await load(way, LOAD_MILLISECONDS);
  return { taken, used: (spent() - before) / taken.length };
}

/** All clients ask, each again as soon as it has its answer. @returns how long the answers took */
async function load(way: Way, milliseconds: number): Promise<number[]> {
  const taken: number[] = [];
  const until = performance.now() + milliseconds;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      await way.ask({ model: "one" });
      taken.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return taken;
}

/** The p99 is the median of the rounds. */
async function streams(ways: readonly Way[], kind: (typeof STREAMS_KINDS)[number]): Promise<void> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const way of ways) await streamsOf(way, kind);
  const measured = new Map<Way, { readonly lost: number; readonly p99: number }[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < STREAM_ROUNDS; round++)
    for (const way of inTurn(ways, round)) measured.get(way)!.push(await streamsOf(way, kind));
  const p99Of = (way: Way): number =>
    quantile(
      measured.get(way)!.map(({ p99 }) => p99),
      0.5,
    );
  const rows = ways.map((way) => ({
    way: way.name,
    "streams with a delta lost": measured.get(way)!.reduce((sum, { lost }) => sum + lost, 0),
    "to first token p99, ms": p99Of(way).toFixed(1),
    "added p99": (p99Of(way) - p99Of(ways[0]!)).toFixed(1),
  }));
  printTable(`${STREAM_ROUNDS} times ${STREAMS} streams of ${DELTAS} deltas, ${kind.name}`, rows);
}

async function streamsOf(way: Way, { pauseMilliseconds, spreadMilliseconds }: (typeof STREAMS_KINDS)[number]) {
  const first: number[] = [];
  let lost = 0;
  await Promise.all(
    Array.from({ length: STREAMS }, async (_, number) => {
      await sleep((number * spreadMilliseconds) / STREAMS);
      const began = performance.now();
      const { pieces } = await way.ask({ model: `slow-${DELTAS}-every-${pauseMilliseconds}` });
      const sent = pieces.flatMap(({ text }) => text.match(/\b1\d{12}\b/g) ?? []);
      if (sent.length !== DELTAS) lost++;
      first.push((pieces.find(({ text }) => /\b1\d{12}\b/.test(text))?.at ?? Number.NaN) - began);
    }),
  );
  return { lost, p99: quantile(first, 0.99) };
}

async function memory(ways: readonly Way[]): Promise<void> {
  const rows = [];
  for (const way of ways.filter(({ pid }) => pid !== undefined)) {
    const before = residentMegabytes(way.pid!, "VmRSS");
    let failed = 0;
    await Promise.all(
      Array.from({ length: LARGE_CALLS }, () => way.ask({ model: "slow-20-every-10", bytes: LARGE_BYTES }).catch(() => void failed++)),
    );
    rows.push({ way: way.name, failed, "before, MB": before, "most, MB": residentMegabytes(way.pid!, "VmHWM") });
  }
  printTable(`${LARGE_CALLS} questions of ${LARGE_BYTES / 1024} KB at once, memory of the gateway's process`, rows);
}

function residentMegabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const [, kilobytes] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** What the process's threads have used. */
function processorMilliseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  return threads.reduce((sum, line) => sum + Number(line.split(" ")[0]) / 1_000_000, 0);
}

function round2(value: number): string {
  return value.toFixed(2);
}
