import { useEffect, useState } from "react";
import parts from "./parts.module.css";

const PATIENCE_MILLISECONDS = 150;

/** Rows of the height that will come, where waiting is long enough to be noticed. */
export function Skeleton({ rows }: { readonly rows: number }) {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), PATIENCE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Loading">
      {isShown ? Array.from({ length: rows }, (_, row) => <div key={row} className={parts.skeleton} />) : null}
    </div>
  );
}
