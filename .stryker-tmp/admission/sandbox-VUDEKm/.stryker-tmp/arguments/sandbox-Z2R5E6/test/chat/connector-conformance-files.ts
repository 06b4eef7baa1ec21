import { expect } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { wideTest } from "../support/test-subset.ts";
import {
  type ChatHarness,
  chatHarnessFactory,
  type OpenChat,
  waitForQuiet,
} from "./chat-harness.ts";

const agent = "permission_mode: dontAsk\nallowed_tools: [Bash]\ntools: [artifact]";
const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command } }] });
const keepArtifact = (path: string) => ({
  tools: [{ name: "mcp__herd__artifact", input: { path } }],
});
const filesIn = ({ chat }: ChatHarness, room: string) =>
  chat.posts(room).flatMap((one) => one.files);

/** Files that an agent returns to the sender. */
export function describeFileUploads(open: OpenChat): void {
  const startChat = chatHarnessFactory(open);

  wideTest(
    "posts kept files once after the answer, and names those that are too large",
    async () => {
      const make =
        "echo hello > out.txt; head -c 21000000 /dev/zero > big.bin; echo more > more.txt";
      const replies = [
        bash(make),
        keepArtifact("out.txt"),
        keepArtifact("big.bin"),
        keepArtifact("more.txt"),
        "Here.",
      ];
      const script = { rules: [{ match: { prompt: "/make/" }, replies }] };
      const harness = await startChat({ script, agent });
      const room = harness.chat.direct("dora");
      harness.chat.loseNextAnswer("file");
      harness.chat.say(room, "dora", "make me something");
      await waitUntil("both files", async () => filesIn(harness, room).length >= 2);
      await waitForQuiet();
      expect(filesIn(harness, room)).toEqual([
        { name: "more.txt", content: "more\n" },
        { name: "out.txt", content: "hello\n" },
      ]);
      const [answer] = harness.chat.posts(room);
      expect(answer?.text).toMatch(/^Here\.\n/);
      expect(answer?.text).toMatch(/Not posted: big\.bin \(21\.0 MB\).*herdctl artifacts job-/);
      const [asked] = harness.harness.rehearsal.ledger.main;
      expect(asked?.prompt).toContain("Files that you keep with the tool `artifact`");
    },
  );
}
