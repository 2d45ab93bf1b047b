import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps {
	children: ComponentChildren;
	icon?: IconName;
	/** `primary` for the one main action of a page. Default `secondary`. */
	look?: 'primary' | 'secondary' | 'quiet' | 'danger';
	type?: 'button' | 'submit';
	/** The action runs: the button cannot be pressed again. */
	isBusy?: boolean;
	disabled?: boolean;
	onClick?: (event: MouseEvent) => void;
}

export function Button({
	children,
	icon,
	look = 'secondary',
	type = 'button',
	isBusy,
	disabled,
	onClick,
}: ButtonProps) {
	return (
		<button
			type={type}
			class={`button button-${look}`}
			disabled={disabled}
			aria-disabled={isBusy}
			aria-busy={isBusy}
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
