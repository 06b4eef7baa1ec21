const mostKept = 4 * 1024;

/** The end of what a program said, in whole lines: half of a secret would not be known as one. */
export class LastLines {
  private text = "";
  private isInCutLine = false;

  add(text: string): void {
    this.text += text;
    if (this.isInCutLine) this.cutAt(0);
    if (this.text.length > mostKept) this.cutAt(this.text.length - mostKept);
  }

  /** Gives them out once. */
  take(): string[] {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    this.text = "";
    return lines;
  }

  private cutAt(position: number): void {
    const end = this.text.indexOf("\n", position);
    this.isInCutLine = end === -1;
    this.text = end === -1 ? "" : this.text.slice(end + 1);
  }
}
