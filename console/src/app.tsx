import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ActivityPage } from './activity/activity-page.tsx'
import { DeletedFormsPage } from './deleted-forms/deleted-forms-page.tsx'
import { EditPage } from './editor/edit-page.tsx'
import { ownEdits } from './editor/edits/own-edits.ts'
import { ConfirmDialog } from './elements/confirm-dialog.tsx'
import { ErrorNotice } from './elements/error-notice.tsx'
import { focusHeading, Page } from './elements/page.tsx'
import { FormsPage } from './forms-list/forms-page.tsx'
import { KeysPage } from './keys/keys-page.tsx'
import { SecretDialog } from './keys/secret-dialog.tsx'
import { PreviewPage } from './preview/preview-page.tsx'
import { ComparePage } from './publish/compare-page.tsx'
import { PublishPage } from './publish/publish-page.tsx'
import { RevisionsPage } from './publish/revisions-page.tsx'
import { goTo, route } from './routing/navigation.ts'
import { formPages, hrefOf, organizationPages, type Route } from './routing/routes.ts'
import { ChangeUserDialog } from './session/change-user-dialog.tsx'
import { entryError, isRetryable } from './session/entry.ts'
import { RetryPage } from './session/retry-page.tsx'
import {
  isConnected,
  mayPurgeIn,
  mayWriteIn,
  otherSession,
  type Session,
  session,
  signOut,
} from './session/session.ts'
import { SignInPage } from './session/sign-in-page.tsx'
import { texts } from './texts.ts'
import { UseItPage } from './use-it/use-it-page.tsx'

/** The console. @param enter signs in with a login link, or continues the session of the tab */
export const App = ({ enter }: { enter: () => Promise<void> }) => {
  const current = session.value
  const error = entryError.value
  return (
    <>
      <button type="button" class="skip" onClick={focusHeading}>
        {texts.skip}
      </button>
      {current && <Header key={current.userPath} session={current} />}
      {!isConnected.value && (
        <p class="banner" role="status">
          {texts.offline}
        </p>
      )}
      {current && error !== undefined && <EntryError error={error} />}
      {/* Without a key, the same page of another form, organization or user keeps the state of this one. */}
      {current && <RoutedPage key={`${current.userPath} ${hrefOf(route.value)}`} session={current} />}
      {!current &&
        (isRetryable(error) ? <RetryPage error={error} retry={enter} /> : <SignInPage error={error} />)}
      {current && otherSession.value && <ChangeUserDialog current={current} other={otherSession.value} />}
      <SecretDialog />
    </>
  )
}

/** The error of a login link that was opened in a tab with a session. */
const EntryError = ({ error }: { error: unknown }) => (
  <div class="entry-error">
    <ErrorNotice error={error} />
    <button
      type="button"
      class="quiet"
      onClick={() => {
        entryError.value = undefined
      }}
    >
      {texts.close}
    </button>
  </div>
)

const Header = ({ session }: { session: Session }) => {
  const current = route.value
  const organization = useLastOrganization(current) ?? session.memberships[0]?.organization.slug
  return (
    <header class="top">
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
      {'form' in current && (
        <nav aria-label={texts.nav.form} class="tabs">
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
    value={organization}
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
    await signOut()
  }
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          if (edits.count() > 0) isAsking.value = true
          else leave()
        }}
      >
        {texts.signOut}
      </button>
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

const RoutedPage = ({ session }: { session: Session }) => {
  const current = route.value
  const { client } = session
  if (current.page === 'home') {
    const first = session.memberships[0]
    if (first === undefined) return <Message title={texts.product} text={texts.noOrganization} />
    location.replace(hrefOf({ page: 'forms', organization: first.organization.slug }))
    return null
  }
  if (current.page === 'keys') return <KeysPage session={session} />
  if (!('organization' in current)) return <Message title={texts.notFound} text={texts.notFoundText} />
  const { organization } = current
  const mayWrite = mayWriteIn(session, organization)
  if (!('form' in current)) {
    const props = { client, organization }
    if (current.page === 'activity') return <ActivityPage {...props} />
    if (current.page === 'deleted-forms')
      return <DeletedFormsPage {...props} mayWrite={mayWrite} mayPurge={mayPurgeIn(session, organization)} />
    return <FormsPage {...props} mayWrite={mayWrite} />
  }
  const props = { client, organization, form: current.form }
  switch (current.page) {
    case 'edit':
      return <EditPage {...props} mayWrite={mayWrite} />
    case 'preview':
      return <PreviewPage {...props} />
    case 'publish':
      return <PublishPage {...props} mayWrite={mayWrite} />
    case 'revisions':
      return <RevisionsPage {...props} mayWrite={mayWrite} />
    case 'compare':
      return <ComparePage {...props} from={current.from} to={current.to} />
    case 'form-activity':
      return <ActivityPage {...props} />
    case 'use-it':
      return <UseItPage session={session} organization={organization} form={current.form} />
  }
}

const Message = ({ title, text }: { title: string; text: string }) => (
  <Page title={title}>
    <p>{text}</p>
  </Page>
)
