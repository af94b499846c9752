import { onTestFinished } from "vitest";
import { ScriptedEdge, type Script } from "./scripted-edge.ts";

/** An edge whose runs are played from the script, until the test is over. */
export async function edgeWith(script: Script): Promise<ScriptedEdge> {
  const edge = new ScriptedEdge(script);
  await edge.start();
  onTestFinished(() => edge.close());
  return edge;
}
