import { strings } from '../../languages/index.ts';
import { TryOut } from '../assistants/try-out.tsx';
import { isSample } from './samples.ts';
import { StepFrame, type StepProps } from './step.tsx';

/** The third step: a question, and its answer with sources. */
export function AskStep({ setup: { assistant, documents, hasConversation }, onNext }: StepProps) {
	const t = strings().startPage;
	const hasSamples = documents.some(({ file_name }) => isSample(file_name));
	const suggestions = hasSamples ? [t.sampleQuestion1, t.sampleQuestion2, t.sampleQuestion3] : [];
	return (
		<StepFrame
			title={t.askTitle}
			text={assistant ? t.askText : t.askNeedsAssistant}
			isDone={hasConversation}
			onNext={onNext}
		>
			{assistant && <TryOut assistant={assistant} isSaved suggestions={suggestions} />}
		</StepFrame>
	);
}
