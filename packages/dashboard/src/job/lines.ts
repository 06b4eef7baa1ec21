import type { Fields } from "./fields.ts";
import { fieldsOf, numberOf } from "./fields.ts";

export interface OutputLine {
  message: Fields;
  /** Where the next one begins. */
  offset: number;
}

/** Makes lines of bytes, wherever they were cut; what is no message is left out. */
export class LineSplitter {
  private readonly decoder = new TextDecoder();
  private rest = "";

  push(bytes: Uint8Array): OutputLine[] {
    const parts = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.rest = parts.pop() ?? "";
    return parts.flatMap(lineOf);
  }
}

function lineOf(text: string): OutputLine[] {
  try {
    const line = fieldsOf(JSON.parse(text));
    const offset = numberOf(line.offset);
    return offset === null ? [] : [{ message: fieldsOf(line.message), offset }];
  } catch {
    return [];
  }
}
