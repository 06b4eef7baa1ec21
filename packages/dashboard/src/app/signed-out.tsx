import { CodeBlock } from "../ui/code-block.tsx";

export function SignedOut() {
  return (
    <main className="mx-auto mt-[16vh] max-w-md p-4">
      <h1 className="text-lg font-semibold">You are not signed in</h1>
      <p className="mt-1 mb-3 text-muted">
        Run this in the folder of the fleet and follow the link that it prints. This page goes on by
        itself as soon as you have.
      </p>
      <CodeBlock text="herdctl open" label="Command" />
    </main>
  );
}
