import { useState } from "react";
import { Button } from "./button.tsx";

const shownFor = 1_500;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [said, setSaid] = useState(label);
  const say = (word: string) => {
    setSaid(word);
    setTimeout(() => setSaid(label), shownFor);
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say("Copied"),
      () => say("Not copied"),
    );
  return (
    <Button size="small" look="plain" onClick={copy} aria-live="polite">
      {said}
    </Button>
  );
}
