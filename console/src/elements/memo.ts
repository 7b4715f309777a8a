import { Component, type ComponentChildren, type FunctionComponent, h } from 'preact'

/**
 * A component that is drawn again only if `isSame` says that its properties differ. Like `memo` of preact/compat, which
 * would add the rest of compat to the bundle.
 */
export const memo = <P extends object>(
  draw: FunctionComponent<P>,
  isSame: (before: P, after: P) => boolean,
): FunctionComponent<P> =>
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>) {
      return !isSame(this.props as P, next as P)
    }

    override render(): ComponentChildren {
      return h(draw, this.props as P)
    }
  } as unknown as FunctionComponent<P>
