import type { UnknownFields } from "./unknown-fields.ts";
import { toFields, toNumberOrNull } from "./unknown-fields.ts";

export interface OutputLine {
  message: UnknownFields;
  /** The offset of the next line. */
  offset: number;
}

/** Splits a byte stream into lines and parses them. Lines that are no messages are skipped. */
export class LineSplitter {
  private readonly decoder = new TextDecoder();
  private remainder = "";

  push(bytes: Uint8Array): OutputLine[] {
    const completeLines = (this.remainder + this.decoder.decode(bytes, { stream: true })).split(
      "\n",
    );
    this.remainder = completeLines.pop() ?? "";
    return completeLines.flatMap(parseLine);
  }
}

function parseLine(text: string): OutputLine[] {
  try {
    const line = toFields(JSON.parse(text));
    const offset = toNumberOrNull(line.offset);
    return offset === null ? [] : [{ message: toFields(line.message), offset }];
  } catch {
    return [];
  }
}
