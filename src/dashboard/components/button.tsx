import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps {
	children: ComponentChildren;
	icon?: IconName;
	/** Its accessible name, if its text does not say what it is about. It begins with the text. */
	label?: string;
	/** `primary` for the one main action of a page. Default `secondary`. */
	look?: 'primary' | 'secondary' | 'quiet' | 'danger';
	type?: 'button' | 'submit';
	/** The action runs: the button cannot be pressed again. */
	isBusy?: boolean;
	/** Whether the part that the button opens is open. */
	isExpanded?: boolean;
	disabled?: boolean;
	onClick?: (event: MouseEvent) => void;
}

export function Button({
	children,
	icon,
	label,
	look = 'secondary',
	type = 'button',
	isBusy,
	isExpanded,
	disabled,
	onClick,
}: ButtonProps) {
	return (
		<button
			type={type}
			class={`button button-${look}`}
			aria-label={label}
			disabled={disabled}
			aria-disabled={isBusy}
			aria-busy={isBusy}
			aria-expanded={isExpanded}
			onClick={(event) => {
				if (isBusy) event.preventDefault();
				else onClick?.(event);
			}}
		>
			{icon && <Icon name={icon} />}
			<span>{children}</span>
		</button>
	);
}

/** A link that looks like a button. */
export function ButtonLink({
	children,
	icon,
	look = 'secondary',
	href,
}: Pick<ButtonProps, 'children' | 'icon' | 'look'> & { href: string }) {
	return (
		<a class={`button button-${look}`} href={href}>
			{icon && <Icon name={icon} />}
			<span>{children}</span>
		</a>
	);
}
