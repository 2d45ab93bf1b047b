/** Methods that stand in for those of an object, and of the objects in its fields. */
export type Overrides<T> = { [K in keyof T]?: T[K] extends (...args: never) => unknown ? T[K] : Partial<T[K]> };

/** The object with some of its methods replaced. The overrides are read at each call, so a test may change them at any time. */
export function withOverrides<T extends object>(target: T, overrides: Overrides<T>): T {
	return new Proxy(target, {
		get(_target, name) {
			const override: unknown = Reflect.get(overrides, name);
			if (typeof override === 'function') return override;
			const value: unknown = Reflect.get(target, name, target);
			if (override !== undefined) return withOverrides(value as object, override as object);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
}
