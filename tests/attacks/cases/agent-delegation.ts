import { createHash, randomUUID } from "node:crypto";
import { toJson } from "@bufbuild/protobuf";
import { Decision, PermissionMode, PermissionSettingsSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { create } from "@bufbuild/protobuf";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { readFile, type AttackMesh } from "../attack-mesh.ts";
import { attempt, stolenSigners, type Attempt } from "../forged-token.ts";
import { claimsOf, delegationOf, signWith, tokensForRun } from "../stolen-delegation.ts";

const EVERYTHING = toJson(
  PermissionSettingsSchema,
  create(PermissionSettingsSchema, { mode: PermissionMode.BYPASS_PERMISSIONS, canAsk: true, allowedTools: ["shell_exec"] }),
);
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A forged delegation, and whose name the call has. */
interface Forged {
  readonly what: string;
  readonly delegation: string;
  readonly signer: string;
}

async function forge(mesh: AttackMesh, real: string): Promise<Forged[]> {
  const { session, run, ...rest } = claimsOf(real);
  const worker = randomUUID();
  const link = (signer: string, claims: object): Promise<string> =>
    signWith(mesh, signer, "hlvm-narrowing+jwt", { narrows: hashOf(real), run, settings: EVERYTHING, ...claims });
  const whole = { ...rest, session, run, settings: EVERYTHING };
  const others = stolenSigners(mesh).filter((signer) => signer !== "edge");
  const forged: Forged[] = [
    { what: "a link that gives more", delegation: `${real}~${await link("orchestrator", {})}`, signer: "orchestrator" },
    {
      what: "a link for a worker that gives more",
      delegation: `${real}~${await link("orchestrator", { run: worker })}`,
      signer: "orchestrator",
    },
    { what: "a link without what it narrows", delegation: await link("orchestrator", {}), signer: "orchestrator" },
    {
      what: "a link of another delegation",
      delegation: `${real}~${await link("orchestrator", { narrows: hashOf("x") })}`,
      signer: "orchestrator",
    },
    { what: "an empty link", delegation: `${real}~`, signer: "orchestrator" },
    { what: "a link in place of the root", delegation: `${await link("orchestrator", {})}~${real}`, signer: "orchestrator" },
  ];
  for (const signer of others) {
    if (signer !== "orchestrator") forged.push({ what: `a link of ${signer}`, delegation: `${real}~${await link(signer, {})}`, signer });
    const root = await signWith(mesh, signer, "hlvm-delegation+jwt", whole);
    forged.push({ what: `a delegation of ${signer}`, delegation: root, signer: "orchestrator" });
  }
  return forged;
}

/** With a delegation and the orchestrator's key, both stolen, a call is made that the run may not. */
async function forgedLinks(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  let tried = 0;
  const first = await mesh.ask(mesh.workspace({ "a.txt": "a\n" }), "plan", [[readFile("a.txt")]]);
  const { sessionId } = first;
  const decide = async (delegation: string, signer: string, tool: string, value: object): Promise<Attempt<Decision | undefined>[]> => {
    const tokens = await tokensForRun(mesh, signer, "policy", delegation);
    const link = delegation.split("~").at(-1)!;
    const claims = link === "" ? {} : claimsOf(link);
    const runs = new Set([claims.run, claimsOf(delegation).run].filter((run): run is string => typeof run === "string"));
    return Promise.all(
      [...runs].map((runId) => {
        const hash = definitionHash(findNativeTool(tool)!);
        const call = { sessionId, runId, callId: randomUUID(), tool, argumentsJson: JSON.stringify(value), definitionHash: hash };
        return attempt(
          mesh,
          "policy",
          PolicyService,
          tokens,
          async (client, options) => (await client.decide({ call }, options)).verdict?.decision,
        );
      }),
    );
  };
  const before = async (): Promise<void> => {
    const real = await delegationOf(mesh, sessionId);
    const [honest] = await decide(real, "orchestrator", "read_file", { path: "a.txt" });
    if (honest?.accepted !== true || honest.answer !== Decision.ALLOW)
      problems.push("the stolen delegation allows nothing: nothing was shown");
    for (const { what, delegation, signer } of await forge(mesh, real)) {
      tried++;
      for (const decided of await decide(delegation, signer, "shell_exec", { command: "touch pwned" }))
        if (decided.accepted && decided.answer === Decision.ALLOW) problems.push(`${what} lets a run in plan mode write`);
    }
  };
  await mesh.ask("", "plan", [{ calls: [readFile("a.txt")], before }], { sessionId });
  return findingOf(problems, `${tried} forged ones, none of which gives anything`);
}

export const agentDelegation: readonly AttackCase[] = [
  { group: "agent", name: "a delegation with a forged link, or one put together anew", run: forgedLinks },
];
