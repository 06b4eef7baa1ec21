const mostKept = 4 * 1024;

/** The end of what a program said, in whole lines: half of a secret would not be known as one. */
export class LastLines {
  private text = "";

  add(text: string): void {
    this.text += text;
    if (this.text.length <= mostKept) return;
    const cut = this.text.indexOf("\n", this.text.length - mostKept);
    this.text = cut === -1 ? "" : this.text.slice(cut + 1);
  }

  /** Gives them out once. */
  take(): string[] {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    this.text = "";
    return lines;
  }
}
