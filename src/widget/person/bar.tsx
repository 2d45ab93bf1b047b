import { h, type VirtualNode } from '../chat/virtual-dom.ts';
import type { PersonTexts } from './texts.ts';

export interface RequestBarProps {
	texts: PersonTexts;
	/** The accessible name. */
	title: string;
	/** Whether somebody is there, in words. */
	status: string;
	isAvailable: boolean;
	/** Says that an address is stored; null: the form is shown. */
	saved: string | null;
	isInvalid: boolean;
	onEmail(text: string): void;
	onChange(): void;
	onWithdraw(): void;
}

/** The bar of a visitor who waits for a person. */
export function requestBar(props: RequestBarProps): VirtualNode {
	const { texts, title, status, isAvailable, saved, onChange, onWithdraw } = props;
	return (
		<div key="request" class="request" role="group" aria-label={title}>
			<div class="line">
				<p class={isAvailable ? 'status here' : 'status'}>{status}</p>
				<button type="button" class="plain" onClick={onWithdraw}>
					{texts.withdraw}
				</button>
			</div>
			{saved === null ? (
				emailForm(props)
			) : (
				<div key="saved" class="line">
					<p dir="auto">{saved}</p>
					<button type="button" class="plain" onClick={onChange}>
						{texts.change}
					</button>
				</div>
			)}
		</div>
	);
}

function emailForm({ texts, isInvalid, onEmail }: RequestBarProps): VirtualNode {
	return (
		<form
			key="form"
			novalidate
			onSubmit={(event: Event) => {
				event.preventDefault();
				const [field] = (event.currentTarget as HTMLFormElement).elements as unknown as [HTMLInputElement];
				onEmail(field.value);
			}}
		>
			<label for="email">{texts.email}</label>
			<input
				id="email"
				type="email"
				dir="ltr"
				maxlength="254"
				autocomplete="email"
				placeholder="name@example.com"
				aria-invalid={isInvalid}
				aria-describedby={isInvalid ? 'invalid' : null}
			/>
			<button type="submit" class="save">
				{texts.save}
			</button>
			{isInvalid && (
				<p id="invalid" class="invalid">
					{texts.invalid}
				</p>
			)}
		</form>
	);
}

/** The line of a visitor whose conversation a person has taken over. */
export function joinedLine(text: string, isTyping: boolean): VirtualNode {
	return (
		<div key="joined" class="notice">
			<p class={isTyping ? 'waiting' : null}>
				{isTyping && (
					<span class="dots" aria-hidden="true">
						<i />
						<i />
						<i />
					</span>
				)}
				<span dir="auto">{text}</span>
			</p>
		</div>
	);
}
