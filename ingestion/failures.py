"""Why a file cannot be answered from: final, unlike an error that another try may cure."""

from graph.documents import DocumentError, DocumentErrorCode


class FileFailure(Exception):
    """The file is at fault, and trying again would not help."""

    def __init__(self, code: DocumentErrorCode, message: str, remedy: str) -> None:
        super().__init__(message)
        self.error: DocumentError = {"code": code, "message": message, "remedy": remedy}
