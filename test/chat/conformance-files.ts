import { expect } from "vitest";
import { until } from "../support/fleet-program.ts";
import { wideTest } from "../support/width.ts";
import { type ChatStage, chatStageOf, type OpenChat, quiet } from "./chat-stage.ts";

const agent = "permission_mode: dontAsk\nallowed_tools: [Bash]\ntools: [artifact]";
const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command } }] });
const keep = (path: string) => ({ tools: [{ name: "mcp__herd__artifact", input: { path } }] });
const filesIn = ({ chat }: ChatStage, room: string) => chat.posts(room).flatMap((one) => one.files);

/** Files that an agent gives to whoever asked. */
export function filesOut(open: OpenChat): void {
  const chatStage = chatStageOf(open);

  wideTest(
    "what the agent keeps is posted after the answer, once; what is too large is named",
    async () => {
      const make =
        "echo hello > out.txt; head -c 21000000 /dev/zero > big.bin; echo more > more.txt";
      const replies = [bash(make), keep("out.txt"), keep("big.bin"), keep("more.txt"), "Here."];
      const script = { rules: [{ match: { prompt: "/make/" }, replies }] };
      const on = await chatStage({ script, agent });
      const room = on.chat.direct("dora");
      on.chat.loseNextAnswer("file");
      on.chat.say(room, "dora", "make me something");
      await until("both files", async () => filesIn(on, room).length >= 2);
      await quiet();
      expect(filesIn(on, room)).toEqual([
        { name: "more.txt", content: "more\n" },
        { name: "out.txt", content: "hello\n" },
      ]);
      const [answer] = on.chat.posts(room);
      expect(answer?.text).toMatch(/^Here\.\n/);
      expect(answer?.text).toMatch(/Not posted: big\.bin \(21\.0 MB\).*herdctl artifacts job-/);
      const [asked] = on.on.rehearsal.ledger.main;
      expect(asked?.prompt).toContain("Files that you keep with the tool `artifact`");
    },
  );
}
