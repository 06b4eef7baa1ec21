import { useState } from "react";
import { Button } from "./button.tsx";

const feedbackMs = 1_500;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [feedback, setFeedback] = useState(label);
  const showFeedback = (message: string) => {
    setFeedback(message);
    setTimeout(() => setFeedback(label), feedbackMs);
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showFeedback("Copied"),
      () => showFeedback("Copy failed"),
    );
  return (
    <Button size="small" variant="plain" onClick={copy} aria-live="polite">
      {feedback}
    </Button>
  );
}
