/**
 * An image that the makers of a form have chosen. Renders nothing without a URL; disappears where the operator does not allow
 * its origin.
 */
export const FormImage = ({
  url,
  name,
  onMissing,
}: {
  url: string
  /** Its class in the style sheet. */
  name?: string
  onMissing?: () => void
}) =>
  url === '' ? null : (
    <img
      // Another image is a new element: this one may be hidden.
      key={url}
      class={name}
      src={url}
      alt=""
      onError={({ currentTarget }) => {
        currentTarget.hidden = true
        onMissing?.()
      }}
    />
  )
