import type { ComponentProps } from 'preact'

/** A button that sends no form, unlike that of HTML. While it is `aria-disabled`, it keeps the focus and does nothing. */
export const Button = ({ onClick, ...attributes }: ComponentProps<'button'>) => (
  <button type="button" {...attributes} onClick={attributes['aria-disabled'] ? undefined : onClick} />
)
