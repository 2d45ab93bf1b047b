/** Appearance of a widget and the address of its server. An absent option has the deployment's value. */
export interface WidgetOptions {
	/** The deployment that answers: `dep_…`. */
	deploymentId: string;
	/** The address of Parley's server. Default: where this script was loaded from. */
	baseUrl?: string | undefined;
	/** Whether the chat opens by itself. It does not on a small screen, or if the visitor has closed it before. */
	open?: boolean | undefined;
	position?: 'bottom-right' | 'bottom-left' | undefined;
	theme?: 'light' | 'dark' | 'auto' | undefined;
	/** A BCP 47 tag such as `de`. Default: the first of the browser's languages that the widget speaks. */
	language?: string | undefined;
	/** The brand colour, in hexadecimal: `#4f46e5`. */
	color?: string | undefined;
	/** The title of the chat. */
	title?: string | undefined;
	/** False: the widget has no button, and the page calls `open()`. */
	launcher?: boolean | undefined;
}

/** A message, as events report it to the page. */
export interface WidgetEventMessage {
	id: string;
	conversation_id: string;
	role: 'user' | 'assistant';
	author: { type: 'visitor' | 'model' | 'human'; name: string | null };
	content: string;
	status: 'completed' | 'in_progress' | 'stopped' | 'failed';
}

/** Events of a widget, by name. */
export interface WidgetEvents {
	/** The configuration is loaded and the button is shown. */
	ready: Record<string, never>;
	open: Record<string, never>;
	close: Record<string, never>;
	/** The visitor's message or a complete reply is stored. */
	message: { message: WidgetEventMessage };
	/** A token is missing or has expired: call `identify()`. */
	unauthorized: Record<string, never>;
	/** A request failed: `code` as in the API's errors. */
	error: { status: number; code: string };
}

/** One chat on a page. */
export interface Widget {
	readonly deploymentId: string;
	open(): void;
	close(): void;
	/** Opens the chat and sends a message as the visitor. */
	send(text: string): void;
	/** Identifies the visitor by a JSON Web Token from the website's server. Call it again with a new token when it expires. */
	identify(jwt: string): void;
	/** Adds a listener for an event. The result removes it. */
	on<E extends keyof WidgetEvents>(event: E, listener: (detail: WidgetEvents[E]) => void): () => void;
	/** Removes the widget from the page and closes its connections. The conversation stays. */
	destroy(): void;
}

/** `window.Parley`: the first widget of the page, and access to the others. */
export interface Parley extends Widget {
	/** The widget of a deployment, or the first one of the page. */
	get(deploymentId?: string): Widget | undefined;
	/** All widgets of the page, in the order in which they were added. */
	readonly widgets: readonly Widget[];
}

/** Adds a widget to the page. */
export declare function createWidget(options: WidgetOptions): Widget;
