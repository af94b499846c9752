/** How long a mesh lives: until it is told to end, or as long as somebody refers to it (see `referenceMesh`). */
export const LIFETIMES = ["foreground", "while-referenced"] as const;
export type Lifetime = (typeof LIFETIMES)[number];
