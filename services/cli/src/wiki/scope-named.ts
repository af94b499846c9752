import { WikiScope } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";

export interface WikiScopeFlag {
  readonly scope?: "project" | "team";
}

/** Unspecified where no flag says whose page is meant. */
export function scopeNamed({ scope }: WikiScopeFlag): WikiScope {
  if (scope === undefined) return WikiScope.UNSPECIFIED;
  return scope === "team" ? WikiScope.TEAM : WikiScope.PROJECT;
}
