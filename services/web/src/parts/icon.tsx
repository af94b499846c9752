import type { LucideIcon } from "lucide-react";

/** All of one weight. An icon says nothing that a word beside it does not say too. */
export function Icon({ of: Of, size = 16, className }: { readonly of: LucideIcon; readonly size?: number; readonly className?: string }) {
  return <Of size={size} strokeWidth={1.5} absoluteStrokeWidth aria-hidden="true" className={className} />;
}
