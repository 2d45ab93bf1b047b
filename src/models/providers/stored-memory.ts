import type { RememberedPart, RoundMemory } from './round-memory.ts';

/** A part in the form of earlier versions, with metadata under the name of a provider. */
interface EarlierPart {
	metadata: Readonly<Record<string, EarlierMetadata>> | null;
}

interface EarlierMetadata {
	signature?: string;
	redactedData?: string;
	thoughtSignature?: string;
}

/**
 * The memory of a stored round. If an earlier version began the reply, its rounds have the
 * earlier form. Without their signatures the service would refuse the next round.
 */
export function storedMemory(memory: unknown): RoundMemory {
	return (memory as ReadonlyArray<RememberedPart & Partial<EarlierPart>>).map((part): RememberedPart => {
		if (part.type === 'text' || part.metadata === undefined) return part;
		const { signature, redactedData, thoughtSignature }: EarlierMetadata = Object.assign(
			{},
			...Object.values(part.metadata ?? {}),
		);
		if (part.type === 'call') return { type: 'call', signature: thoughtSignature ?? null };
		if (redactedData !== undefined) return { type: 'redacted_reasoning', data: redactedData };
		return { type: 'reasoning', text: 'text' in part ? part.text : '', signature: signature ?? null };
	});
}
