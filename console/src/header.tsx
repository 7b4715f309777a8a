import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ownEdits } from './editor/edits/own-edits.ts'
import { Button } from './elements/button.tsx'
import { ConfirmDialog } from './elements/confirm-dialog.tsx'
import { goTo, route } from './routing/navigation.ts'
import { formPages, hrefOf, organizationPages, type Route } from './routing/routes.ts'
import { forgetLink } from './session/entry.ts'
import { membershipIn, type Session, signOut } from './session/session.ts'
import { texts } from './texts.ts'

/** The top of every page: the organization, its pages and those of the form at hand, and the user. */
export const Header = ({ session }: { session: Session }) => {
  const current = route.value
  const organization = useLastOrganization(current) ?? session.memberships[0]?.organization.slug
  return (
    <header class="top">
      <div class="bar">
        <span class="product">{texts.product}</span>
        {organization && <OrganizationChoice session={session} organization={organization} />}
        {organization && (
          <nav aria-label={texts.nav.organization}>
            {organizationPages.map((page) => (
              <NavLink
                key={page}
                to={{ page, organization }}
                label={texts.nav[page]}
                isCurrent={current.page === page}
              />
            ))}
          </nav>
        )}
        <NavLink to={{ page: 'keys' }} label={texts.nav.keys} isCurrent={current.page === 'keys'} />
        <span class="user">{session.email}</span>
        <SignOut />
      </div>
      {'form' in current && (
        <nav aria-label={texts.nav.form} class="bar">
          {formPages.map((page) => (
            <NavLink
              key={page}
              to={{ page, organization: current.organization, form: current.form }}
              label={texts.nav[page]}
              isCurrent={current.page === page}
            />
          ))}
        </nav>
      )}
    </header>
  )
}

const NavLink = ({ to, label, isCurrent }: { to: Route; label: string; isCurrent: boolean }) => (
  <a href={hrefOf(to)} aria-current={isCurrent ? 'page' : undefined}>
    {label}
  </a>
)

const OrganizationChoice = ({ session, organization }: { session: Session; organization: string }) => (
  <select
    aria-label={texts.nav.organization}
    value={membershipIn(session, organization)?.organization.slug}
    onInput={({ currentTarget }) => goTo({ page: 'forms', organization: currentTarget.value })}
  >
    {session.memberships.map(({ organization: { slug, name } }) => (
      <option key={slug} value={slug}>
        {name}
      </option>
    ))}
  </select>
)

/** Signing out deletes unsaved edits: the next person at this browser could read them. */
const SignOut = () => {
  const isAsking = useSignal(false)
  const edits = ownEdits()
  const leave = async () => {
    edits.removeAll()
    forgetLink()
    await signOut()
  }
  return (
    <>
      <Button
        class="quiet"
        onClick={() => {
          if (edits.count() > 0) isAsking.value = true
          else leave()
        }}
      >
        {texts.signOut}
      </Button>
      {isAsking.value && (
        <ConfirmDialog
          title={texts.signOut}
          confirm={texts.signOut}
          onConfirm={leave}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>{texts.signOutDeletes(edits.count())}</p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** The organization of the page, or that of the last page that had one. */
const useLastOrganization = (current: Route): string | undefined => {
  const last = useRef<string | undefined>(undefined)
  if ('organization' in current) last.current = current.organization
  return last.current
}
