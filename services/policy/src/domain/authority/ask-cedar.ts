import {
  preparsePolicySet,
  preparseSchema,
  statefulIsAuthorized,
  validate,
  type CedarValueJson,
  type EntityJson,
  type TypeAndId,
} from "@cedar-policy/cedar-wasm/nodejs";
import { POLICIES, SCHEMA } from "./cedar-policies.ts";

const NAME = "authority";

export interface CedarQuestion {
  readonly principal: TypeAndId;
  readonly action: string;
  readonly resource: TypeAndId;
  readonly context?: Readonly<Record<string, CedarValueJson>>;
  readonly entities: readonly EntityJson[];
}

/** Whether the policies permit something. Whatever goes wrong at a question is a no: Cedar leaves out a `forbid` that errs. Some 0.5 ms. */
export function askCedar({ principal, action, resource, context = {}, entities }: CedarQuestion): boolean {
  const answer = statefulIsAuthorized({
    principal,
    action: { type: "HLVM::Action", id: action },
    resource,
    context,
    preparsedSchemaName: NAME,
    validateRequest: true,
    preparsedPolicySetId: NAME,
    entities: [...entities],
  });
  return answer.type === "success" && answer.response.diagnostics.errors.length === 0 && answer.response.decision === "allow";
}

/** @throws Error where a policy does not fit the schema: nothing is served then */
function parse(): void {
  const policies = { staticPolicies: { ...POLICIES } };
  const checked = validate({ validationSettings: { mode: "strict" }, schema: SCHEMA, policies });
  const wrong = checked.type === "failure" ? checked.errors : checked.validationErrors.map(({ error }) => error);
  const parsed = wrong.length > 0 ? [] : [preparseSchema(NAME, SCHEMA), preparsePolicySet(NAME, policies)];
  const errors = [...wrong, ...parsed.flatMap((answer) => (answer.type === "failure" ? answer.errors : []))];
  if (errors.length > 0) throw new Error(`The policies of authority are not right: ${errors.map(({ message }) => message).join("; ")}`);
}

parse();
