import type { ComponentProps } from 'preact'

/** A form that the page handles, and the browser does not send. */
export const Form = ({
  onSubmit,
  ...attributes
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: (form: HTMLFormElement) => void }) => (
  <form
    {...attributes}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit(event.currentTarget)
    }}
  />
)
