import { Empty } from "../parts/empty.tsx";

/** For whoever comes without a link: local mode has no login to fill in. */
export function SignedOut({ message }: { readonly message: string }) {
  return (
    <main>
      <Empty title="Open this page with a link of your own" command="hlvm web">
        {message === "" ? null : <p role="alert">{message}</p>}
        <p>Run this as the user who started the mesh. It opens the page in your browser; with --print it writes the link.</p>
      </Empty>
    </main>
  );
}
