import { CodeBlock } from "../ui/code-block.tsx";

export function SignedOut() {
  return (
    <main className="mx-auto mt-[16vh] max-w-md p-4">
      <h1 className="text-lg font-semibold">You are not signed in</h1>
      <p className="mt-1 mb-3 text-muted">
        Run this command in the fleet's folder and open the link it prints. This page continues
        automatically once you are signed in.
      </p>
      <CodeBlock text="herdctl open" label="Command" />
    </main>
  );
}
